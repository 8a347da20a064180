import { stripVTControlCharacters } from 'node:util';
import { testGuard } from '../../src/agent/guard/guard-fixture.ts';
import { type LabelledOutput, readOutputs } from './read-outputs.ts';

/** What the guard made of a labelled output. */
export interface GuardedOutput extends LabelledOutput {
  shown: string;
  /** As reported. */
  found: LabelledOutput['risk'];
  flags: readonly string[];
  isRedacted: boolean;
  /** The secrets of which a part can still be read, also when the text arrives in pieces. */
  leaks: string[];
}

/** All labelled outputs after the guard, each as a whole and in pieces. */
export async function guardOutputs(outputs = readOutputs()): Promise<GuardedOutput[]> {
  const guard = testGuard();
  return Promise.all(
    outputs.map(async (output) => {
      const { text: shown, assessment } = await guard.check(output.text);
      const inPieces = guard.open();
      const pieces = output.text.match(/.{1,7}/gsu) ?? [];
      const passed = pieces.map((piece) => inPieces.write(piece)).join('') + inPieces.end();
      return {
        ...output,
        shown,
        found: assessment?.risk ?? 'none',
        flags: assessment?.flags ?? [],
        isRedacted: assessment?.isRedacted ?? false,
        leaks: output.secrets.filter((secret) => isReadable(secret, shown) || isReadable(secret, passed)),
      };
    }),
  );
}

/** So many characters of a secret in a row count as a part of it. */
const PART = 8;

function isReadable(secret: string, shown: string): boolean {
  const text = stripVTControlCharacters(shown);
  if (secret.length <= PART) return text.includes(secret);
  for (let at = 0; at + PART <= secret.length; at += 1) if (text.includes(secret.slice(at, at + PART))) return true;
  return false;
}
