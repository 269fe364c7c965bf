"""What would the ranking be if the words of one group stood for the other?

The package is in the plural: ``evenrank.counterfactual`` is the function.
"""
