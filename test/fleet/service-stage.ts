import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalService, type LocalServiceOptions } from "../../src/fleet/local-service.ts";
import type { SessionService } from "../../src/fleet/service.ts";
import type { FollowedEvent } from "../../src/fleet/session-events.ts";
import type { DemoScript } from "../../src/offline/script/script.ts";
import { realWorld } from "../../src/world/real/world.ts";

/** A project, a home folder and a demo model, for services on real files. */
export type ServiceStage = {
  readonly home: string;
  readonly work: string;
  /** Opens a service; it is closed with the stage. */
  readonly open: (options?: Partial<LocalServiceOptions>) => Promise<SessionService>;
  /** Reads a file of the project; undefined if there is none. */
  readonly file: (name: string) => string | undefined;
  /** Writes a file of the project. */
  readonly write: (name: string, text: string) => void;
  readonly close: () => Promise<void>;
};

/** Answers "hello" at once; "write NAME" writes a file first, "both" two of them, each after approval. */
const script: DemoScript = {
  rules: [
    {
      prompt: "write one",
      replies: [
        { call: { tool: "write_file", input: { file_path: "one.txt", content: "1\n" } } },
        { say: "Wrote one." },
      ],
    },
    {
      prompt: "write both",
      replies: [
        {
          call: [
            { tool: "write_file", input: { file_path: "one.txt", content: "1\n" } },
            { tool: "write_file", input: { file_path: "two.txt", content: "2\n" } },
          ],
        },
        { say: "Wrote both." },
      ],
    },
    { prompt: "hello", replies: [{ say: "Hello there." }] },
  ],
  otherwise: { say: "Yes." },
};

export const openServiceStage = (settings: object = {}): ServiceStage => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-service-")));
  const [home, work] = [join(base, "home"), join(base, "work")];
  for (const folder of [home, work]) mkdirSync(folder);
  writeFileSync(join(base, "script.json"), JSON.stringify(script));
  writeFileSync(
    join(home, "settings.json"),
    JSON.stringify({ model: "offline", offline: { script: join(base, "script.json") }, ...settings }),
  );
  const opened: SessionService[] = [];
  return {
    home,
    work,
    open: async (options = {}) => {
      const service = await openLocalService({
        world: realWorld({ PATH: process.env["PATH"] }),
        home,
        folders: [work],
        ...options,
      });
      opened.push(service);
      return service;
    },
    file: (name) => {
      try {
        return readFileSync(join(work, name), "utf8");
      } catch {
        return undefined;
      }
    },
    write: (name, text) => writeFileSync(join(work, name), text),
    close: async () => {
      for (const service of opened) await service.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
};

/** A prompt as a command. */
export const prompt = (
  text: string,
): { readonly type: "user"; readonly parts: readonly [{ readonly type: "text"; readonly text: string }] } => ({
  type: "user",
  parts: [{ type: "text", text }],
});

/** Follows a session until an event fits, and returns all events up to it. */
export const followUntil = async (
  service: SessionService,
  {
    tenant = "a",
    id,
    after = 0,
    isLive = false,
  }: { readonly tenant?: string; readonly id: string; readonly after?: number; readonly isLive?: boolean },
  isLast: (event: FollowedEvent["event"]) => boolean,
): Promise<readonly FollowedEvent[]> => {
  const stop = new AbortController();
  const events: FollowedEvent[] = [];
  for await (const event of service.follow(tenant, id, { after, isLive, signal: stop.signal })) {
    events.push(event);
    if (isLast(event.event)) break;
  }
  return events;
};

/** Follows a session until it has nothing to do. */
export const followToIdle = async (
  service: SessionService,
  {
    tenant = "a",
    id,
    after = 0,
    isLive = false,
  }: { readonly tenant?: string; readonly id: string; readonly after?: number; readonly isLive?: boolean },
): Promise<readonly FollowedEvent[]> => {
  const events: FollowedEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of service.follow(tenant, id, { after, isLive, untilIdle: true, signal })) events.push(event);
  return events;
};

/** One word for each event. */
export const describeFollowed = (events: readonly FollowedEvent[]): readonly string[] =>
  events.map(({ event }) => {
    switch (event.type) {
      case "message":
        return `message: ${event.text || event.calls.map(({ tool }) => tool).join(", ")}`;
      case "user":
        return `user: ${event.parts.map((part) => (part.type === "text" ? part.text : part.type)).join("")}`;
      case "result":
        return `result: ${event.call} ${event.status}`;
      case "asked":
      case "asked-by-agent":
        return `asked: ${event.call}`;
      case "decided":
        return `decided: ${event.call} ${JSON.stringify(event.decision["type"])}`;
      case "turn":
        return `turn: ${event.end.type}`;
      case "title":
        return `title: ${event.title}`;
      default:
        return event.type;
    }
  });
