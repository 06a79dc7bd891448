add_subdirectory(/path/to/redouble redouble)
