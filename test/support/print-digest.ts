import { digestBodies } from "./digest-bodies.ts";

process.stdout.write(digestBodies());
