import { call, done, Ledger, text, type Entry } from "../src/conversation/index.ts";
import { destinationOf } from "../src/providers/index.ts";
import { Composer } from "../src/wire/compose.ts";

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
const rounds = 7;

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
  return ledger.entries;
};

const tools = [
  {
    name: "read_file",
    description: "Reads.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
] as const;

const composer = (to: string): Composer =>
  new Composer({ destination: destinationOf(to), system: "Be exact.", tools, blobs: {} });

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
    for (let round = 0; round < rounds; round++) {
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
      turns.push(time(() => (grown.add(added), grown.body())) * 1000);
    }
    const cost = median(turns.slice(100));
    smallest ??= cost;
    const cells = [
      to.padEnd(27),
      String(size).padStart(8),
      median(full).toFixed(1).padStart(9),
      median(plain).toFixed(1).padStart(13),
      (median(full) / median(plain)).toFixed(2).padStart(6),
      cost.toFixed(1).padStart(9),
      (cost / smallest).toFixed(2).padStart(11),
    ];
    process.stdout.write(`${cells.join(" ")}\n`);
  }
}
