import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { parsePatch, type StructuredPatchHunk } from 'diff';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import { toSafeText } from '../terminal/safe-text.ts';

/** A hunk as an editor shows it. */
export type FileDiff = Extract<ToolCallContent, { type: 'diff' }>;

interface Diffs {
  /** What stands above the first diff. */
  remarks: string;
  diffs: FileDiff[];
}

const HEADER = /^--- .*\n\+\+\+ /m;
const NOTHING = '/dev/null';

/** The hunks of unified diffs, each as the text before and after, which is how editors want them. */
export function toDiffs(preview: string, toAbsolute: (name: string) => string): Diffs {
  const begin = HEADER.exec(preview)?.index;
  if (begin === undefined) return { remarks: toRemarks(preview), diffs: [] };
  const remarks = toRemarks(preview.slice(0, begin));
  const patches = parsed(preview.slice(begin));
  // A diff may have been cut off before it came here, so it cannot be read as one.
  if (patches === undefined) return { remarks: toRemarks(preview), diffs: [] };
  const diffs = patches.flatMap(({ oldFileName = NOTHING, newFileName = NOTHING, hunks }) => {
    const name = newFileName === NOTHING ? oldFileName : newFileName;
    return hunks.map((hunk): FileDiff => {
      const { before, after } = toSides(hunk);
      return {
        type: 'diff',
        path: toAbsolute(name),
        oldText: oldFileName === NOTHING ? null : before,
        newText: after,
      };
    });
  });
  return { remarks, diffs };
}

const toRemarks = (text: string): string => toSafeText(toVisibleText(text)).trim();

function parsed(text: string) {
  try {
    return parsePatch(text);
  } catch {
    return undefined;
  }
}

function toSides({ lines }: StructuredPatchHunk): { before: string; after: string } {
  const side = (other: string) =>
    lines
      .filter((line) => !line.startsWith(other) && !line.startsWith('\\'))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  return { before: side('+'), after: side('-') };
}
