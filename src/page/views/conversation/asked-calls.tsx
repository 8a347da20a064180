import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import { POLICY_WORDS } from '../../../../protocol/events/policy-actions.ts';
import { repeatedCall } from '../../../../protocol/text/repeated-call.ts';
import type { EndsLine } from '../../../../protocol/text/text-ends.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { type AskedItem, readItem, toAskedItem, toWholeItem } from '../../state/conversation/asked-item.ts';
import { findLanguage } from '../../state/text/languages.ts';
import { PatchView } from '../text/patch-view.tsx';
import { EffectIcons, Effects } from './effects.tsx';
import { NotSandboxed, ToolHeader } from './tool-card.tsx';
import { useRoom } from './use-room.ts';

interface AskedCallsProps {
  items: readonly ApprovalItem[];
  /** The heading above the calls. */
  title: ComponentChildren;
  isOpen: boolean;
  onOpen(isOpen: boolean): void;
}

/**
 * Everything that would run. Long text shows its beginning and its end, so that the end is never out of sight. One
 * click shows all of it.
 */
export function AskedCalls({ items, title, isOpen, onOpen }: AskedCallsProps) {
  const [frame, content, ruler] = [
    useRef<HTMLDivElement>(null),
    useRef<HTMLDivElement>(null),
    useRef<HTMLElement>(null),
  ];
  const { room, isOver } = useRoom({ frame, content, ruler, isActive: !isOpen });
  const read = useMemo(() => items.map(readItem), [items]);
  const cut = useMemo(() => read.map((each) => toAskedItem(each, room)), [read, room.rows, room.columns]);
  const whole = useMemo(() => read.map(toWholeItem), [read]);
  const shown = isOpen ? whole : cut;
  const isWhole = cut.every((each) => each.isWhole);
  return (
    <>
      <header class="approval-head">
        {title}
        {!isWhole && (
          <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
            {isOpen ? 'Show less' : 'Show all'}
          </button>
        )}
      </header>
      <div class="asked" ref={frame}>
        <i class="ruler" ref={ruler} />
        <div ref={content}>
          {shown.map((asked, index) => {
            const item = items[index];
            return item && <AskedCall key={item.call_id} item={item} asked={asked} />;
          })}
        </div>
      </div>
      {isOver && !isOpen && (
        <p class="explain">{`The ${items.length} calls do not all fit here. Scroll to see every one.`}</p>
      )}
    </>
  );
}

const AskedCall = ({ item, asked }: { item: ApprovalItem; asked: AskedItem }) => (
  <div class="asked-item">
    <p class="asked-head">
      <ToolHeader name={item.func_name} header={asked.header} subject={asked.subject} />
      {!item.needs_approval && item.error === null && <span class="tag">needs no approval</span>}
      {item.policy && <span class="tag">{policyText(item.policy)}</span>}
      {asked.notSandboxed === '' && <span class="tag unsafe">not sandboxed</span>}
      {asked.isEffectIcons && <EffectIcons phrases={asked.effects} />}
      {item.approval_label !== item.func_name && <span class="tag">{asked.label}</span>}
    </p>
    {asked.notSandboxed !== undefined && asked.notSandboxed !== '' && <NotSandboxed reason={asked.notSandboxed} />}
    {item.repeated !== undefined && <p class="repeated">{repeatedCall(item.repeated)}</p>}
    {asked.effects.length > 0 && !asked.isEffectIcons && <Effects phrases={asked.effects} />}
    {asked.error !== undefined && <p class="problem">{`Will not run: ${asked.error}`}</p>}
    {asked.preview.kind === 'whole' && (
      <PatchView text={asked.preview.text} isDiff={isDiff(item)} language={findLanguage(item.func_name)} />
    )}
    {asked.preview.kind === 'ends' && <Ends lines={asked.preview.lines} isDiff={isDiff(item)} />}
  </div>
);

const policyText = ({ name, action }: NonNullable<ApprovalItem['policy']>) =>
  `${POLICY_WORDS[action]}: ${toVisibleLine(name)}`;

const isDiff = ({ preview_type }: ApprovalItem): boolean => preview_type === 'diff';

/** The first and the last lines, and a note about the lines omitted between them. */
const Ends = ({ lines, isDiff }: { lines: readonly EndsLine[]; isDiff: boolean }) => (
  <pre class="preview ends">
    {lines.map((line, index) => (
      <span key={index} class={`ends-line ${isDiff ? kindOf(line) : ''}`}>
        {line.map(({ text, isNote }, at) => (isNote ? <i key={at}>{text}</i> : text))}
        {'\n'}
      </span>
    ))}
  </pre>
);

function kindOf([first]: EndsLine): 'added' | 'removed' | '' {
  const text = first === undefined || first.isNote ? '' : first.text;
  if (/^(\+\+\+|---) /.test(text)) return '';
  return text.startsWith('+') ? 'added' : text.startsWith('-') ? 'removed' : '';
}
