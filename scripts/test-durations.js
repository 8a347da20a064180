// How long each test file took the last time it ran here: a hint about which to begin first, and nothing else.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** `known` is empty where nothing was kept or it cannot be read. */
export function durationsIn(file) {
  const known = read(file);
  return {
    known,
    keep(seconds) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify({ ...read(file), ...seconds }));
    },
  };
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {}; // there is none yet, or somebody wrote it at the same time
  }
}
