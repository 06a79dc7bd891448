include(FetchContent)
FetchContent_Declare(redouble SOURCE_DIR /path/to/redouble)
FetchContent_MakeAvailable(redouble)
