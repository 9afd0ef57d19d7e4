export {
  DiskError,
  type Disk,
  type Entry,
  type EntryKind,
  type FileHandle,
  type Folder,
  type Identity,
} from "./disk.ts";
export { bodyText, NetError, type Headers, type HttpRequest, type HttpResponse, type Net } from "./net.ts";
export type { Processes, Program, Running } from "./processes.ts";
export { realWorld } from "./real.ts";
export { simulatedWorld, type SimulatedOptions, type SimulatedWorld } from "./simulated.ts";
export { simulatedDisk, type SimulatedDisk } from "./simulated-disk.ts";
export type { Planted } from "./simulated-disk-tree.ts";
export type { Clock, Environment, Files, Host, World } from "./world.ts";
export { version } from "./version.ts";
