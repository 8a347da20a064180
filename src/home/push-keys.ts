import { join } from 'node:path';
import { z } from 'zod';
import { readPrivateFile } from './private-file.ts';
import { replaceFile } from './replace-file.ts';

const PushKeys = z.object({
  publicKey: z.string().regex(/^[A-Za-z0-9_-]{87}$/),
  privateKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});
/** In base64url. */
export type PushKeys = z.infer<typeof PushKeys>;

/** The keys by which push servers recognise this daemon, made the first time. A malformed or unsafe file is refused. */
export async function openPushKeys(home: string, make: () => PushKeys): Promise<PushKeys> {
  const file = join(home, 'push-keys.json');
  const text = await readPrivateFile(file);
  if (text !== undefined) return parse(text, file);
  const made = PushKeys.parse(make());
  await replaceFile(file, `${JSON.stringify(made)}\n`);
  return made;
}

function parse(text: string, file: string): PushKeys {
  try {
    return PushKeys.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`${file} does not hold keys; move it away, and browsers have to switch notifications on again`, {
      cause: error,
    });
  }
}
