import { z } from 'zod';
import { wordsOf } from '../../../protocol/words-of.ts';
import { DamagedArchive } from './tar-entry.ts';

/** The last file of an archive, because the digests are known only then. */
export const MANIFEST = 'manifest.json';
/** Over a million files. */
export const MOST_MANIFEST_BYTES = 256 * 1_048_576;
const FORMAT = 1;

const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  /** Of the Headgate that made the backup. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  schemaVersion: z.int().positive(),
  /** The key of the machine that the secrets in the database need; null if it has none. */
  machineKey: z.strictObject({ id: z.string(), included: z.boolean() }).nullable(),
  files: z.array(
    z.strictObject({ name: z.string(), bytes: z.int().nonnegative(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

/** What an archive holds. */
export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestFile = Manifest['files'][number];

export const toManifest = (described: Omit<Manifest, 'format'>): Manifest => ({ format: FORMAT, ...described });

/** Throws if a restore would refuse it. */
export function toManifestText(manifest: Manifest, mostBytes = MOST_MANIFEST_BYTES): string {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  if (Buffer.byteLength(text) > mostBytes)
    throw new Error(`${manifest.files.length} files are too many for one archive`);
  return text;
}

/** Throws DamagedArchive, also for a format of a later Headgate. */
export function parseManifest(text: string): Manifest {
  try {
    const value: unknown = JSON.parse(text);
    const format = z.looseObject({ format: z.int() }).parse(value).format;
    if (format > FORMAT) throw new DamagedArchive(`a newer Headgate wrote it (format ${format})`);
    return manifestSchema.parse(value);
  } catch (error) {
    if (error instanceof DamagedArchive) throw error;
    throw new DamagedArchive(
      `its ${MANIFEST} is unreadable (${error instanceof SyntaxError ? wordsOf(error) : 'unknown form'})`,
    );
  }
}

/** Throws DamagedArchive if the files are not exactly those of the manifest. */
export function requireSame({ files }: Manifest, found: readonly ManifestFile[]): void {
  const listed = new Map(files.map((file) => [file.name, file]));
  for (const { name, bytes, sha256 } of found) {
    const file = listed.get(name);
    if (file === undefined) throw new DamagedArchive(`${name} is not in its manifest`);
    if (file.bytes !== bytes || file.sha256 !== sha256) throw new DamagedArchive(`${name} does not match its digest`);
    listed.delete(name);
  }
  const [missing] = listed.keys();
  if (missing !== undefined) throw new DamagedArchive(`${missing} is missing`);
}
