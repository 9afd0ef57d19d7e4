import { holdsForHistories } from "./support/hold.ts";

holdsForHistories({ from: 10_001, count: 10_000 });
