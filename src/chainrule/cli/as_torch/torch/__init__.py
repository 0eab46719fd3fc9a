"""`import torch` in a process started from `chainrule run`: takes itself out and puts chainrule in."""

from chainrule.cli import alias

alias.install()
