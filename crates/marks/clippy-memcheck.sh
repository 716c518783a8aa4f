#!/bin/sh
# Clippy over the code of `make constant-time`, as cargo's workspace wrapper: what it checks of this workspace lies
# beside what is checked without the cfg, and dependencies are shared.
exec clippy-driver "$@" --cfg tacit_memcheck --deny warnings
