// Nothing is called: this library is loaded before others, see CrashPoints.c.
