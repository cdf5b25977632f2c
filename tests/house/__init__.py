"""The house rules, checked: structure of the code, form of the documents, examples that run."""
