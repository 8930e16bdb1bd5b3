import typer

from nutgraf import cli


def test_every_option_is_explained() -> None:
    for name, command in vars(typer.main.get_command(cli.app))["commands"].items():
        for parameter in command.params:
            assert parameter.help, f"{name} {parameter.name}"
