import { isBusy } from '../../../../protocol/is-busy.ts';
import type { ListedTab } from '../coordinators/arranged-tabs.ts';
import { type Tab, tabName, tabState } from '../tab.ts';

export const SECTION_WORDS = {
  pinned: 'Pinned',
  attention: 'Waiting for you',
  running: 'Running',
  open: 'Open',
} as const;

type SectionName = keyof typeof SECTION_WORDS;

export interface Section {
  name: SectionName;
  rows: readonly ListedTab[];
}

/** The list in sections, without empty ones. What stands below a coordinator stays there, and counts for its section. */
export function toSections(listed: readonly ListedTab[], pins: ReadonlySet<string>): Section[] {
  const families: ListedTab[][] = [];
  for (const row of listed) {
    const family = families.at(-1);
    if (row.depth > 0 && family) family.push(row);
    else families.push([row]);
  }
  const found = Map.groupBy(families, (family) => sectionOf(family, pins));
  return NAMES.flatMap((name) => {
    const rows = found.get(name)?.flat() ?? [];
    return rows.length === 0 ? [] : [{ name, rows }];
  });
}

/** Only the workstreams with all the words in their name or title that fit the filters. */
export function narrowSections(
  sections: readonly Section[],
  text: string,
  isShown: (tab: Tab) => boolean,
): readonly Section[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isHit = ({ tab }: ListedTab) => {
    if (!isShown(tab)) return false;
    const name = `${tabName(tab)} ${tab.row.value.title ?? ''}`.toLowerCase();
    return words.every((word) => name.includes(word));
  };
  return sections.flatMap(({ name, rows }) => {
    const hits = rows.filter(isHit);
    return hits.length === 0 ? [] : [{ name, rows: hits }];
  });
}

const NAMES: readonly SectionName[] = ['pinned', 'attention', 'running', 'open'];

function sectionOf(family: readonly ListedTab[], pins: ReadonlySet<string>): SectionName {
  const states = family.map(({ tab }) => tabState(tab));
  if (family.some(({ tab, depth }) => depth === 0 && pins.has(tab.wsId))) return 'pinned';
  if (states.includes('attention')) return 'attention';
  return states.some(isBusy) ? 'running' : 'open';
}
