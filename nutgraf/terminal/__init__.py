"""What people see in a terminal.

console      standard output and standard error
progress     how far a training or an evaluation is
tables       the steps of a plan, the state of a run, samples
models       the models that there are
summaries    what `nutgraf summarize` reads and prints
explanation  where the words of a summary come from
"""
