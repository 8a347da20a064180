import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { ApprovalItem } from '../../../../protocol/events/approval-item.ts';
import { POLICY_WORDS } from '../../../../protocol/events/policy-actions.ts';
import { inBackgroundWords } from '../../../../protocol/text/background-words.ts';
import { repeatedCall } from '../../../../protocol/text/repeated-call.ts';
import type { EndsLine } from '../../../../protocol/text/text-ends.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { type AskedQuestion, asksAbout } from '../../state/approvals/rule-choices.ts';
import { type AskedItem, readItem, toAskedItem, toWholeItem } from '../../state/conversation/asked-item.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { findLanguage } from '../../state/text/languages.ts';
import { NotSandboxed, ToolHeader } from '../conversation/tool-card.tsx';
import { useRoom } from '../conversation/use-room.ts';
import { PatchView } from '../text/patch-view.tsx';
import { CallChoice, type DeniedCalls } from './call-choice.tsx';
import { EffectIcons, Effects } from './effects.tsx';
import { VerdictLines, VerdictTag } from './verdict-lines.tsx';

interface AskedCallsProps {
  approval: AskedQuestion;
  /** Undefined: the person may not decide. */
  denied: DeniedCalls | undefined;
  /** The heading above the calls. */
  title: ComponentChildren;
  isOpen: boolean;
  onOpen(isOpen: boolean): void;
}

/**
 * Everything that would run. Long text shows its beginning and its end, so that the end is never out of sight. One
 * click shows all of it.
 */
export function AskedCalls({ approval, denied, title, isOpen, onOpen }: AskedCallsProps) {
  const { items } = approval;
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
  const asking = items.filter((item) => asksAbout(approval, item));
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
            if (!item) return null;
            const choice = asking.length > 1 && asking.includes(item) ? denied : undefined;
            return <AskedCall key={item.call_id} item={item} asked={asked} denied={choice} />;
          })}
        </div>
      </div>
      {isOver && !isOpen && (
        <p class="explain">
          {items.length === 1
            ? 'The call does not fit here. Scroll to see all of it.'
            : `The ${items.length} calls do not all fit here. Scroll to see every one.`}
        </p>
      )}
    </>
  );
}

interface AskedCallProps {
  item: ApprovalItem;
  asked: AskedItem;
  /** Undefined if it cannot be decided apart from the others. */
  denied: DeniedCalls | undefined;
}

const AskedCall = ({ item, asked, denied }: AskedCallProps) => (
  <div class={`asked-item ${denied?.value.includes(item.call_id) ? 'denied' : ''}`}>
    <AskedHead item={item} asked={asked} denied={denied} />
    {asked.notSandboxed !== undefined && asked.notSandboxed !== '' && <NotSandboxed reason={asked.notSandboxed} />}
    {item.repeated !== undefined && <p class="repeated">{repeatedCall(item.repeated)}</p>}
    {!asked.isShort && <Ratings asked={asked} />}
    {asked.ruling !== undefined && <p class="ruling">{showHidden(asked.ruling)}</p>}
    {asked.error !== undefined && <p class="problem">{showHidden(`Will not run: ${asked.error}`)}</p>}
    {asked.preview.kind === 'whole' && (
      <PatchView text={asked.preview.text} isDiff={isDiff(item)} language={findLanguage(item.func_name)} />
    )}
    {asked.preview.kind === 'ends' && <Ends lines={asked.preview.lines} isDiff={isDiff(item)} />}
  </div>
);

const AskedHead = ({ item, asked, denied }: AskedCallProps) => (
  <p class="asked-head">
    {denied && <CallChoice callId={item.call_id} name={asked.subject ?? asked.header} denied={denied} />}
    <ToolHeader name={item.func_name} header={asked.header} subject={asked.subject} />
    {!item.needs_approval && item.error === null && <span class="tag">needs no approval</span>}
    {item.background_secs !== undefined && <span class="tag">{inBackgroundWords(item.background_secs)}</span>}
    {item.policy && <span class="tag">{policyText(item.policy)}</span>}
    {asked.notSandboxed === '' && <span class="tag unsafe">not sandboxed</span>}
    {asked.isShort && <RatingTags asked={asked} />}
    {item.approval_label !== item.func_name && <span class="tag">{asked.label}</span>}
  </p>
);

/** What the call does, and how the judge rates that. */
const Ratings = ({ asked: { effects, verdicts } }: { asked: AskedItem }) => (
  <>
    {effects.length > 0 && <Effects phrases={effects} />}
    <VerdictLines verdicts={verdicts} />
  </>
);

/** The same where there is little room. */
const RatingTags = ({ asked: { effects, verdicts } }: { asked: AskedItem }) => (
  <>
    {effects.length > 0 && <EffectIcons phrases={effects} />}
    {verdicts.map((verdict) => (
      <VerdictTag key={verdict.text} verdict={verdict} />
    ))}
  </>
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
