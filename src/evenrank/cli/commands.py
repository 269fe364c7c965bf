"""The commands and the question that each answers, so that help is printed without loading any of them.

A command is the module of this folder that has its name.
"""

from __future__ import annotations

COMMANDS = {  # in the order of the help
    "start": {
        "init": "how do I begin with my own files?",
        "audit": "who is favoured, by how much, how sure is that, and what can I do?",
        "doctor": "is the installation sound, and is this project?",
    },
    "data": {
        "retrieve": "which documents does a system of any class rank first?",
        "scan": "which group words are in my documents?",
        "lexicon": "which words stand for groups, and how far do scores depend on them?",
        "queryset": "which queries should be fair?",
        "polarise": "where do documents stand between two viewpoints?",
        "corpus": "how do I get documents from both sides of a question?",
    },
    "measure": {
        "measures": "list the measures, describe one, or find those that answer a question",
        "evaluate": "how fair and how relevant are these runs?",
        "explain": "why does a list have its score, and where does bias come from?",
        "compare": "which run is better, by how much, and how sure is that?",
    },
    "improve": {
        "rerank": "how do I make a run fairer, and what does it cost?",
        "debias": "can a ranker be made that does not tell groups apart?",
        "select": "which of several rankers should I take, within which loss?",
    },
    "experiments": {
        "counterfactual": "what would the ranking be if group words were swapped?",
        "study": "does a one-sided list change minds? run a study with people",
    },
    "show": {
        "report": "how do I show it to others?",
        "gate": "did a run get worse than its baseline by more than is allowed?",
    },
}
SUMMARIES = {name: summary for group in COMMANDS.values() for name, summary in group.items()}
