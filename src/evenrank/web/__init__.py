"""What pages with forms need, whatever they ask: a store whose answers are on disk before a page says so,
sessions, forms that can be sent once, strict headers, rate limits, and templates that escape everything.

``store.py`` opens SQLite or PostgreSQL, ``steps.py`` keeps who has answered what in which order, ``forms.py``
signs forms, ``application.py`` is the server around a table of handlers.
"""
