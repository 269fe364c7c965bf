"""A study of the search engine manipulation effect: does a list that puts one side first change minds?

``settings.py`` and ``corpora.py`` read a study's folder, ``conditions.py`` makes the lists that it shows,
``assignment.py`` decides who sees which, ``journey.py`` is the order of the steps, ``server.py`` the pages,
``records.py`` what was answered, ``analysis.py`` what it says, ``simulation.py`` answers with a known effect.
"""
