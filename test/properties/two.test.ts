import { checkHistories } from "../support/property-tests.ts";

checkHistories({ from: 10_001, count: 10_000 });
