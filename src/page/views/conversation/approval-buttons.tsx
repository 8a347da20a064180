import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Desk } from '../../state/app.ts';
import type { ApprovalBlock } from '../../state/conversation/blocks.ts';
import type { Tab } from '../../state/tab.ts';
import { isCovered, isField } from '../overlay.ts';
import { usePressGuard } from '../use-press-guard.ts';
import { useConversation } from './conversation-context.ts';

interface ApprovalButtonsProps {
  approval: ApprovalBlock;
  desk: Desk;
  tab: Tab;
}

type Step = 'choose' | 'deny' | 'always';
interface Verdict {
  approved: boolean;
  feedback?: string;
  always?: boolean;
}

/** The buttons that decide. A decision carries the id of its question, so it can never apply to another question. */
export function ApprovalButtons({ approval, desk, tab }: ApprovalButtonsProps) {
  const step = useSignal<Step>('choose');
  const busy = useSignal(false);
  const cameFrom = useRef<Step>('choose');
  const { goToEnd } = useConversation();
  const go = (to: Step) => () => {
    cameFrom.current = step.peek();
    step.value = to;
    goToEnd(); // the next buttons may need more room, and a person who had scrolled up a little would not see them
  };
  useEscape(step.value, go('choose'));
  const decide = async (verdict: Verdict) => {
    busy.value = true;
    await desk.actions.decide(tab, { approvalId: approval.approvalId, ...verdict });
    busy.value = false;
  };
  const buttons = useRef<HTMLDivElement>(null);
  usePressGuard(buttons, step.value);
  return (
    <div class="decision" ref={buttons}>
      {step.value === 'deny' && (
        <DenyForm
          busy={busy.value}
          onBack={go('choose')}
          onDeny={(feedback) => void decide({ approved: false, ...(feedback === '' ? {} : { feedback }) })}
        />
      )}
      {step.value === 'always' && (
        <AlwaysForm
          busy={busy.value}
          onBack={go('choose')}
          onAlways={() => void decide({ approved: true, always: true })}
        />
      )}
      {step.value === 'choose' && (
        <Choices
          question={approval.question}
          busy={busy.value}
          cameFrom={cameFrom.current}
          onApprove={() => void decide({ approved: true })}
          go={go}
          decide={decide}
        />
      )}
    </div>
  );
}

/** Makes Escape go back one step, and nothing else: elsewhere Escape stops the run or leaves a view. */
function useEscape(step: Step, back: () => void): void {
  useLayoutEffect(() => {
    if (step === 'choose') return;
    const onKeyDown = (event: KeyboardEvent) => {
      const isOurs = !isField(event.target) || event.target.closest('.approval') !== null;
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented || !isOurs || isCovered()) return;
      event.preventDefault();
      back();
    };
    // Before all other listeners, whichever was added first.
    document.addEventListener('keydown', onKeyDown, { capture: true });
    return () => document.removeEventListener('keydown', onKeyDown, { capture: true });
  }, [step]);
}

const takeFocus = (element: HTMLElement | null) => element?.focus({ preventScroll: true });

interface ChoicesProps {
  question: ApprovalBlock['question'];
  busy: boolean;
  /** The step just left: the focus returns to the button that opened it. */
  cameFrom: Step;
  onApprove(): void;
  go(to: Step): () => void;
  decide(verdict: Verdict): Promise<void>;
}

function Choices({ question, busy, cameFrom, onApprove, go, decide }: ChoicesProps) {
  if (question === 'instructions')
    return (
      <div class="decide">
        <button
          type="button"
          class="primary approves"
          disabled={busy}
          data-decision="approve"
          title="Alt+Y"
          onClick={onApprove}
        >
          Follow them
        </button>
        <button
          type="button"
          disabled={busy}
          data-decision="deny"
          title="Alt+N"
          onClick={() => void decide({ approved: false })}
        >
          Ignore them
        </button>
      </div>
    );
  if (question !== 'tools')
    return (
      <div class="decide">
        <button type="button" class="approves" disabled={busy} data-decision="approve" onClick={onApprove}>
          {question === 'outcome' ? 'Run again' : 'Continue'}
        </button>
        <button
          type="button"
          class="primary"
          disabled={busy}
          data-decision="deny"
          onClick={() => void decide({ approved: false })}
        >
          {question === 'outcome' ? 'Skip' : 'Stop here'}
        </button>
      </div>
    );
  return (
    <div class="decide">
      <button
        type="button"
        class="primary approves"
        disabled={busy}
        data-decision="approve"
        title="Alt+Y"
        onClick={onApprove}
      >
        Approve
      </button>
      <button
        type="button"
        ref={cameFrom === 'deny' ? takeFocus : null}
        disabled={busy}
        data-decision="deny"
        title="Alt+N"
        onClick={go('deny')}
      >
        Deny…
      </button>
      <button
        type="button"
        ref={cameFrom === 'always' ? takeFocus : null}
        class="quiet last"
        disabled={busy}
        onClick={go('always')}
      >
        Always allow…
      </button>
    </div>
  );
}

function AlwaysForm({ busy, onBack, onAlways }: { busy: boolean; onBack(): void; onAlways(): void }) {
  return (
    <div class="decide">
      <p class="explain">
        Every tool call in this workstream, of any kind, runs without asking (by default for eight hours). You can end
        this at the top of the page.
      </p>
      <button type="button" class="danger approves" disabled={busy} onClick={onAlways}>
        Yes, never ask here
      </button>
      {/* The focus is on Back, so that a key pressed right after "Always allow…" does not confirm it. */}
      <button type="button" ref={takeFocus} onClick={onBack}>
        Back
      </button>
    </div>
  );
}

function DenyForm({ busy, onBack, onDeny }: { busy: boolean; onBack(): void; onDeny(feedback: string): void }) {
  const feedback = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  // A person who chose to deny types the reason next.
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      class="decide deny"
      onSubmit={(event) => {
        event.preventDefault();
        onDeny(feedback.value.trim());
      }}
    >
      <input
        ref={field}
        aria-label="What should it do instead? (optional)"
        placeholder="What should it do instead? (optional)"
        maxLength={16_384}
        value={feedback.value}
        onInput={({ currentTarget }) => {
          feedback.value = currentTarget.value;
        }}
      />
      <button type="submit" class="danger" disabled={busy}>
        Deny
      </button>
      <button type="button" onClick={onBack}>
        Back
      </button>
    </form>
  );
}
