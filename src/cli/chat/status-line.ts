import type { StatusRecord } from '../../../protocol/stream-events.ts';
import { moneyOf } from '../../../protocol/text/spending/spending-words.ts';
import type { Paint } from '../terminal/paint.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { widthOf } from '../terminal/width.ts';
import { cutToRow } from '../terminal/wrap.ts';
import type { Spent } from './chat-cost.ts';
import type { TabRow } from './tabs/chat-tabs.ts';

export interface StatusFacts {
  model: string;
  workdir: string;
  mode: string | undefined;
  usage: StatusRecord | undefined;
  spent: Spent | undefined;
  tabs: readonly TabRow[];
  /** The home folder of the person. */
  userHome: string;
}

/** Stands before the line, and after what fits of it. */
const RULE = '──';
const SEPARATOR = ' · ';

/**
 * One row about the conversation: tabs, model, folder, mode, tokens and cost. On a narrow terminal, the folder is
 * shortened first, then the last facts are left out.
 */
export function toStatusLine(facts: StatusFacts, { paint, columns }: { paint: Paint; columns: number }): string[] {
  const { model, workdir, mode, usage, spent, tabs } = facts;
  if (model === '') return [];
  const folder = toSafeText(shortened(workdir, facts.userHome));
  const other = [toTokens(usage), toCost(spent)].filter((text) => text !== '');
  const before = [...(tabs.length > 1 ? [toTabs(tabs)] : []), toSafeText(model)];
  const after = [...(mode === undefined ? [] : [mode]), ...other];
  const room = columns - widthOf([RULE, [...before, '', ...after].join(SEPARATOR)].join(' '));
  const shown = room < 2 ? [] : [folder.length <= room ? folder : `…${folder.slice(folder.length - room + 1)}`];
  return [paint('dim', cutToRow(`${RULE} ${[...before, ...shown, ...after].join(SEPARATOR)}`, columns))];
}

const shortened = (folder: string, userHome: string): string =>
  folder === userHome || folder.startsWith(`${userHome}/`) ? `~${folder.slice(userHome.length)}` : folder;

/** The marks of a tab that wants attention, and of one that works. */
const MARKS: Partial<Record<TabRow['state'], string>> = { attention: '?', error: '!', thinking: '…', running: '…' };

const toTabs = (tabs: readonly TabRow[]): string =>
  tabs
    .map(({ name, state, isCurrent }, index) => {
      const text = `${index + 1} ${toSafeText(name).slice(0, 16)}${MARKS[state] ?? ''}`;
      return isCurrent ? `[${text}]` : text;
    })
    .join(' ');

function toTokens(usage: StatusRecord | undefined): string {
  if (usage === undefined || usage.total_tokens === 0) return '';
  const part = usage.context_window > 0 ? ` (${Math.round(usage.pct)} %)` : '';
  return `${toShort(usage.total_tokens)} tokens${part}`;
}

const toShort = (tokens: number): string =>
  tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(tokens < 10_000 ? 1 : 0)}k`;

function toCost(spent: Spent | undefined): string {
  if (spent === undefined || spent.costUsd === 0) return '';
  return moneyOf(spent.costUsd);
}
