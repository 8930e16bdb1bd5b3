"""Summaries of raw text by a trained model, from a run folder or an export.

summarizer  the class that people use; results are what it takes and returns
loading     finds and loads a model; ready are those that come with the package, export writes and opens folders
searching   the best summaries in word ids, of the length asked for; cleaning mends them, backends search
explaining  where the words of a summary come from; records is that as JSON
language    words, casing and settings; codec turns text into word ids and back
documents   a whole document as a headline and a few lines
"""
