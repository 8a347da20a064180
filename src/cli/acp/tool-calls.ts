import path from 'node:path';
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { ApprovalItem } from '../../../protocol/events/approval-item.ts';
import type { CallOutcome } from '../../../protocol/stream-events.ts';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { type FileDiff, toDiffs } from './diffs.ts';
import { toText } from './text-content.ts';

/** Where the calls of a session work. */
export interface CallPlace {
  /** Relative paths start there. */
  workdir: string;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_directory: 'read',
  read_output: 'read',
  bash_output: 'read',
  glob: 'search',
  search: 'search',
  recall: 'search',
  find_tool: 'search',
  edit_file: 'edit',
  write_file: 'edit',
  apply_patch: 'edit',
  edit_notebook: 'edit',
  bash: 'execute',
  kill_shell: 'execute',
  watch: 'execute',
  node: 'execute',
  web_fetch: 'fetch',
  web_search: 'fetch',
  todo: 'think',
  memory: 'think',
  plan_agent: 'think',
  task: 'think',
};

export const toKind = (name: string): ToolKind => KINDS[name] ?? 'other';

/** How much of a preview or an output an editor gets; the page and the terminal have all of it. */
const MOST_CHARS = 32_768;
/** Of diffs, which editors fold. */
const MOST_DIFF_CHARS = 4 * MOST_CHARS;

/** A call as an editor shows it. `agent`: the title of the sub-agent that makes it. */
export function toToolCall(item: ApprovalItem, { workdir }: CallPlace, agent?: string): Omit<ToolCall, 'status'> {
  const locations = toLocations(item, workdir);
  const content = toPreview(item, workdir);
  return {
    toolCallId: item.call_id,
    title: toTitle(item.header, agent),
    name: item.func_name,
    kind: toKind(item.func_name),
    ...(locations.length > 0 && { locations }),
    ...(content.length > 0 && { content }),
  };
}

/** Safe, and nothing is lost: in a command, what stands before a carriage return runs, too. */
const toVisible = (text: string): string => toSafeText(toVisibleText(text));

/** One line that cannot control a terminal, in which some editors show it. */
export const toTitle = (header: string, agent?: string): string => {
  const line = toVisible(header).replaceAll('\n', ' ');
  return agent === undefined ? line : `${toVisible(agent).replaceAll('\n', ' ')} › ${line}`;
};

/** Diffs if it changes files; otherwise the text that would run, if the title does not say it all. Nothing in it is Markdown. */
export function toPreview(item: ApprovalItem, workdir: string): ToolCallContent[] {
  if (item.preview_type === 'diff') return toChanges(item.preview, workdir);
  const text = toVisible(item.preview).trim();
  const isTitle = text === item.subject && !MARKDOWN.test(text);
  return text === '' || isTitle ? [] : [toText(cut(text), { isPlain: true })];
}

/** Some editors show titles as Markdown, in which such characters may vanish. */
const MARKDOWN = /[*_`~[\]<>&\\\n]/;

/** As many whole diffs as fit, and which ones are left out: a person must not allow what nobody mentioned. */
function toChanges(preview: string, workdir: string): ToolCallContent[] {
  const { remarks, diffs } = toDiffs(preview, (name) => toAbsolute(name, workdir));
  const above = remarks === '' ? [] : [toText(cut(remarks), { isPlain: true })];
  const left = leftOut(diffs);
  if (left.length === 0) return [...above, ...diffs];
  const files = [...new Set(left.map((diff) => toTitle(diff.path)))].join('\n');
  const chars = left.reduce((sum, diff) => sum + sizeOf(diff), 0);
  const rest = `(${chars} more characters of changes are not shown here; the page and headgate chat have all of them. They are in:)\n${files}`;
  return [...above, ...diffs.slice(0, -left.length), toText(cut(rest), { isPlain: true })];
}

function leftOut(diffs: readonly FileDiff[]): FileDiff[] {
  let size = 0;
  for (const [index, diff] of diffs.entries()) {
    size += sizeOf(diff);
    if (size > MOST_DIFF_CHARS) return diffs.slice(index);
  }
  return [];
}

const sizeOf = ({ oldText, newText }: FileDiff): number => (oldText?.length ?? 0) + newText.length;

/** What a call has printed: its end, because errors are there. */
export const toOutput = (output: string): ToolCallContent[] => {
  const text = toSafeText(output).trim();
  return text === '' ? [] : [toText(cut(text), { isPlain: true })];
};

function cut(text: string): string {
  if (text.length <= MOST_CHARS) return text;
  const half = MOST_CHARS / 2;
  return `${text.slice(0, half)}\n(… ${text.length - MOST_CHARS} characters are left out here …)\n${text.slice(-half)}`;
}

export const toStatus = (outcome: CallOutcome): 'completed' | 'failed' => (outcome === 'done' ? 'completed' : 'failed');

const MOST_LOCATIONS = 8;

/** The files that a call names, as far as they are certain. */
function toLocations({ effects, func_name, subject }: ApprovalItem, workdir: string): ToolCallLocation[] {
  const named = (effects?.list ?? []).flatMap(({ kind, target, certain }) =>
    certain && target !== undefined && ON_FILES.has(kind) ? [target] : [],
  );
  const read = func_name === 'read_file' && subject !== undefined ? [subject] : [];
  const paths = new Set([...named, ...read].filter(isPath).map((name) => toAbsolute(name, workdir)));
  return [...paths].slice(0, MOST_LOCATIONS).map((place) => ({ path: place }));
}

const ON_FILES: ReadonlySet<string> = new Set(['read', 'write', 'delete']);

const isPath = (name: string): boolean => name !== '' && name !== '/dev/null' && !name.includes('\n');

const toAbsolute = (name: string, workdir: string): string => path.resolve(workdir, name);
