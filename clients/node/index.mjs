export { ProgramNotFoundError, ReplyError, StartError, findProgram, startRedouble } from "./index.cjs";
