export {
  DiskError,
  type AppendHandle,
  type Disk,
  type Entry,
  type EntryKind,
  type FileHandle,
  type Folder,
  type Identity,
} from "./disk.ts";
export type { Life } from "./life.ts";
export { takeLock, type Lock, type LockPlace, type LockWish } from "./lock.ts";
export { bodyText, NetError, type Headers, type HttpRequest, type HttpResponse, type Net } from "./net.ts";
export type { Processes, Program, Running } from "./processes.ts";
export { realWorld } from "./real.ts";
export { realTerminal } from "./real-terminal.ts";
export { simulatedWorld, type SimulatedOptions, type SimulatedWorld } from "./simulated.ts";
export {
  simulatedDisk,
  type DiskChange,
  type DiskTrouble,
  type SimulatedDisk,
  type SimulatedDiskOptions,
} from "./simulated-disk.ts";
export type { Planted } from "./simulated-disk-tree.ts";
export type { Terminal, TerminalEvent, TerminalSize } from "./terminal.ts";
export type { Clock, Environment, Files, Host, World } from "./world.ts";
export { version } from "./version.ts";
