import { stat } from 'node:fs/promises';

/** Resolves when the file is there and not empty. */
export async function fileAppears(file: string): Promise<void> {
  const size = await stat(file).then(
    ({ size }) => size,
    () => 0, // not there yet
  );
  if (size > 0) return;
  await new Promise(setImmediate);
  return fileAppears(file);
}
