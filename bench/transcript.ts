import { call, done, text } from "../src/conversation/builders.ts";
import type { Entry } from "../src/conversation/entry.ts";
import { Ledger } from "../src/conversation/ledger.ts";
import { storeBase64 } from "../src/conversation/media.ts";
import { destinationOf } from "../src/providers/find.ts";
import { RequestComposer } from "../src/wire/compose.ts";

/*
 * npm run bench
 * Full: render and encode a whole history, as a ratio to JSON.stringify of the body it makes, in the same run.
 * Turn: adding one more tool turn and composing the body, at each size, as a ratio to the smallest.
 */
const targets = [
  "google/gemini-3.8-flash",
  "anthropic/claude-sonnet-5",
  "bedrock",
  "openai-chat/gpt-5.6",
  "openai/gpt-5.6",
  "mistral",
  "kimi",
];
const sizes = [1_000, 10_000, 100_000];
/** Small histories run more often, so that each is measured warm; the first third of the rounds is left out. */
const roundsOf = (size: number): number => (size <= 1_000 ? 90 : size <= 10_000 ? 30 : 12);

const words = "The quick brown fox jumps over the lazy dog. ".repeat(12);

const turn = (ledger: Ledger, index: number): void => {
  ledger.user([text(`Question ${index}: ${words.slice(0, 120)}`)]);
  const [made] = ledger.model({ provider: "openai", model: "gpt-5.6" }, [
    text(`I will look at file ${index}.`),
    {
      type: "call",
      tool: "read_file",
      input: { text: `{"path":"src/file${index}.ts","offset":${index}}` },
      seal: { id: `call_native${index}` },
    },
  ]);
  ledger.complete(made!.id, "read_file", done(`${index}: ${words}`));
  ledger.model({ provider: "openai", model: "gpt-5.6" }, [text(`File ${index} is fine.`)]);
};

const history = (messages: number): readonly Entry[] => {
  const ledger = new Ledger();
  for (let index = 0; index < messages / 4; index++) turn(ledger, index);
  ledger.user([text("And now?")]);
  // As it comes from disk when a session is picked up again.
  return JSON.parse(JSON.stringify(ledger.entries)) as readonly Entry[];
};

const tools = [
  {
    name: "read_file",
    description: "Reads.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
] as const;

const composer = (to: string): RequestComposer =>
  new RequestComposer({ destination: destinationOf(to), system: "Be exact.", tools, blobs: {} });

const warm = (values: readonly number[]): readonly number[] => values.slice(Math.floor(values.length / 3));

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!;

const time = (work: () => unknown): number => {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e6;
};

process.stdout.write("target                      messages   full ms  stringify ms  ratio   turn µs  turn ratio\n");
for (const to of targets) {
  let smallest: number | undefined;
  for (const size of sizes) {
    const entries = history(size);
    const full: number[] = [];
    const plain: number[] = [];
    for (let round = 0; round < roundsOf(size); round++) {
      let body: unknown;
      full.push(
        time(() => {
          const made = composer(to);
          made.add(entries);
          body = made.body();
        }),
      );
      plain.push(time(() => JSON.stringify(body)));
    }
    const grown = composer(to);
    grown.add(entries);
    const more = Ledger.from(entries);
    const turns: number[] = [];
    for (let index = 0; index < 400; index++) {
      const before = more.entries.length;
      turn(more, size + index);
      more.user([text("Next?")]);
      const added = more.entries.slice(before);
      turns.push(time(() => (grown.add(added), grown.body({ cache: { marks: true } }))) * 1000);
    }
    const cost = median(warm(turns));
    smallest ??= cost;
    const cells = [
      to.padEnd(27),
      String(size).padStart(8),
      median(warm(full)).toFixed(1).padStart(9),
      median(warm(plain)).toFixed(1).padStart(13),
      (median(warm(full)) / median(warm(plain))).toFixed(2).padStart(6),
      cost.toFixed(1).padStart(9),
      (cost / smallest).toFixed(2).padStart(11),
    ];
    process.stdout.write(`${cells.join(" ")}\n`);
  }
}

/* Memory: what a rendered body adds to a conversation that holds 64 MB of media, with everything else let go. */
const heap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
};

const { media, blob } = storeBase64("A".repeat(64_000_000), { mimeType: "image/png" });
const ledger = new Ledger();
ledger.user([text("look")]);
const [made] = ledger.model({ provider: "openai", model: "gpt-5.6" }, [call("snap")]);
ledger.complete(made!.id, "snap", done(media));
for (const to of ["anthropic/claude-sonnet-5", "google/gemini-3.8-flash", "openai/gpt-5.6"]) {
  const unlimited = destinationOf(to);
  const cell = { types: ["image/png"] };
  const rows = { ...unlimited.target.media, result: { image: cell }, user: { image: cell } };
  const destination = { ...unlimited, target: { ...unlimited.target, media: rows } };
  const before = heap();
  const bodies = [1, 2, 3].map(() => {
    const composed = new RequestComposer({ destination, blobs: { [blob.hash]: blob.base64 } });
    composed.add(ledger.entries);
    return composed.body();
  });
  const added = heap() - before;
  process.stdout.write(`${to}: ${bodies.length} bodies around 64 MB of media add ${added.toFixed(2)} MB\n`);
}
