// How long each test file took the last time: a hint about which ones to start first.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** `known` is empty if the file is missing or unreadable. */
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
    return {}; // missing, or being written by another process
  }
}
