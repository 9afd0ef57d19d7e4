/**
 * Sessions in PostgreSQL, for `openAgent({ sessions })`.
 *
 * @packageDocumentation
 */
export type { SqlDatabase } from "../postgres/database.ts";
export { migrateStore, readStoreVersion, type MigrationResult } from "../postgres/migrate.ts";
export { openPostgresSessions, type PostgresSessions, type PostgresStoreOptions } from "../postgres/store.ts";
export { openBlobFolder, type BlobOwner, type BlobPlace } from "../postgres/blobs.ts";
export { readRateLimits, setRateLimit, type RateLimit } from "../postgres/buckets.ts";
export { readTenant, setTenantLimits, type TenantLimits } from "../postgres/tenants.ts";
