import { z } from 'zod';

/** Where a server was installed from, and what exactly. */
const Origin = z.object({
  /** Its name in the registry. */
  name: z.string(),
  version: z.string(),
  /** SHA-256 of its entry in the registry. */
  digest: z.string(),
  /** `remote 0` or `package 1`: which of its ways to run. */
  choice: z.string(),
});
export type ServerOrigin = z.infer<typeof Origin>;

/** What is stored of a server, as one encrypted text: addresses and arguments hold secrets, too. */
const Row = z.object({
  name: z.string(),
  /** As in config.json. */
  config: z.record(z.string(), z.unknown()),
  origin: Origin.optional(),
  createdBy: z.string(),
  createdAtMs: z.number(),
  updatedAtMs: z.number(),
});
export type ServerRow = z.infer<typeof Row>;

/** Undefined for a text that is no row. */
export function readRow(text: string | undefined): ServerRow | undefined {
  try {
    return Row.safeParse(JSON.parse(text ?? '')).data;
  } catch {
    return undefined; // not JSON
  }
}
