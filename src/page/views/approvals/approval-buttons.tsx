import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type GivenAnswers, isOnlyQuestions, toAnswers } from '../../state/approvals/given-answers.ts';
import {
  type AskedQuestion,
  asksAbout,
  type Decided,
  offeredRules,
  offeredTerms,
  toApproval,
} from '../../state/approvals/rule-choices.ts';
import { isCovered, isField } from '../overlay.ts';
import { usePressGuard } from '../use-press-guard.ts';
import { AllowForm } from './allow-form.tsx';
import type { DeniedCalls } from './call-choice.tsx';

interface ApprovalButtonsProps {
  approval: AskedQuestion;
  denied: DeniedCalls;
  answers: Signal<GivenAnswers>;
  /** Of a denial; undefined while the person does not deny. */
  reason: Signal<string | undefined>;
  decide(decided: Decided): Promise<unknown>;
  onStep: (() => void) | undefined;
}

type Step = 'choose' | 'deny' | 'allow' | 'everything';

/** The buttons that decide. A decision carries the id of its question, so it can never apply to another question. */
export function ApprovalButtons({ approval, denied, answers, reason, decide, onStep }: ApprovalButtonsProps) {
  // A reason that was begun before the card was drawn again.
  const step = useSignal<Step>(reason.peek() === undefined ? 'choose' : 'deny');
  const busy = useSignal(false);
  const cameFrom = useRef<Step>(step.peek());
  const go = (to: Step) => () => {
    reason.value = to === 'deny' ? '' : undefined;
    cameFrom.current = step.peek();
    step.value = to;
    onStep?.();
  };
  useEscape(step.value, go('choose'));
  const finish = async (decided: Decided) => {
    busy.value = true;
    await decide(decided);
    busy.value = false;
  };
  const approve = (more: Partial<Decided> = {}) => {
    const given = toAnswers(approval, answers.peek(), denied.peek());
    void finish({ ...toApproval(denied.peek(), given), ...more });
  };
  const buttons = useRef<HTMLDivElement>(null);
  usePressGuard(buttons, step.value);
  const offered = offeredRules(approval, denied.value);
  return (
    <div class="decision" ref={buttons}>
      {step.value === 'deny' && (
        <DenyForm
          isPlan={approval.question === 'plan'}
          reason={reason}
          isNew={cameFrom.current !== 'deny'}
          busy={busy.value}
          onBack={go('choose')}
          onDeny={(feedback) => void finish({ approved: false, ...(feedback === '' ? {} : { feedback }) })}
        />
      )}
      {step.value === 'allow' && (
        <AllowForm
          offered={offered}
          terms={offeredTerms(approval)}
          busy={busy.value}
          onBack={go('choose')}
          onAllow={(rules) => approve({ rules: [...rules] })}
          onEverything={go('everything')}
        />
      )}
      {step.value === 'everything' && (
        <EverythingForm
          busy={busy.value}
          isOnlyWay={offered.length === 0}
          onBack={go('choose')}
          onAlways={() => approve({ always: true })}
        />
      )}
      {step.value === 'choose' && (
        <Choices
          approval={approval}
          denied={denied.value}
          busy={busy.value}
          cameFrom={cameFrom.current}
          onApprove={() => approve()}
          go={go}
          onAlways={go(offered.length === 0 ? 'everything' : 'allow')}
          decide={finish}
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
  approval: AskedQuestion;
  /** The calls that do not run although the others do. */
  denied: readonly string[];
  busy: boolean;
  /** The step just left: the focus returns to the button that opened it. */
  cameFrom: Step;
  onApprove(): void;
  go(to: Step): () => void;
  onAlways(): void;
  decide(decided: Decided): Promise<void>;
}

function Choices(props: ChoicesProps) {
  const { approval, denied, busy, cameFrom, onApprove, go, onAlways } = props;
  if (isPair(approval.question)) return <OtherChoices {...props} />;
  const asking = approval.items.filter((item) => asksAbout(approval, item)).length;
  const words = wordsFor(approval, asking);
  return (
    <div class="decide">
      <button
        type="button"
        class="primary approves"
        disabled={busy || (asking > 0 && denied.length === asking)}
        data-decision="approve"
        title="Alt+Y"
        onClick={onApprove}
      >
        {words.yes ?? toApproveWords(asking, denied.length)}
      </button>
      <button
        type="button"
        ref={cameFrom === 'deny' ? takeFocus : null}
        disabled={busy}
        data-decision="deny"
        title="Alt+N"
        onClick={go('deny')}
      >
        {words.no}
      </button>
      {words.yes === undefined && (
        <button
          type="button"
          ref={cameFrom === 'allow' || cameFrom === 'everything' ? takeFocus : null}
          class="quiet last"
          disabled={busy}
          onClick={onAlways}
        >
          Always allow…
        </button>
      )}
    </div>
  );
}

/** `yes` is absent if the buttons are about calls, which may be allowed for good. */
function wordsFor(approval: AskedQuestion, asking: number): { yes?: string; no: string } {
  if (approval.question === 'plan') return { yes: 'Approve plan', no: 'Change or reject…' };
  if (isOnlyQuestions(approval)) return { yes: 'Answer', no: 'Do not answer…' };
  return { no: asking > 1 ? 'Deny all…' : 'Deny…' };
}

const toApproveWords = (asking: number, denied: number): string =>
  denied === 0 ? `Approve${asking > 1 ? ' all' : ''}` : `Approve ${asking - denied}, deny ${denied}`;

/** The words of questions about something else than calls of tools. The first button of each pair approves. */
const OTHERS = {
  instructions: { yes: 'Follow them', no: 'Ignore them', isYesUsual: true },
  outcome: { yes: 'Run again', no: 'Skip', isYesUsual: false },
  budget: { yes: 'Continue', no: 'Stop here', isYesUsual: false },
} as const;

const isPair = (question: AskedQuestion['question']): question is keyof typeof OTHERS => question in OTHERS;

function OtherChoices({ approval, busy, onApprove, decide }: ChoicesProps) {
  const { yes, no, isYesUsual } = OTHERS[isPair(approval.question) ? approval.question : 'outcome'];
  return (
    <div class="decide">
      <button
        type="button"
        class={isYesUsual ? 'primary approves' : 'approves'}
        disabled={busy}
        data-decision="approve"
        title="Alt+Y"
        onClick={onApprove}
      >
        {yes}
      </button>
      <button
        type="button"
        class={isYesUsual ? '' : 'primary'}
        disabled={busy}
        data-decision="deny"
        title="Alt+N"
        onClick={() => void decide({ approved: false })}
      >
        {no}
      </button>
    </div>
  );
}

interface EverythingFormProps {
  busy: boolean;
  /** Nothing narrower is offered. */
  isOnlyWay: boolean;
  onBack(): void;
  onAlways(): void;
}

function EverythingForm({ busy, isOnlyWay, onBack, onAlways }: EverythingFormProps) {
  return (
    <div class="decide">
      <p class="explain">
        {isOnlyWay && 'No narrower rule fits this. '}Every tool call in this workstream, of any kind, runs without
        asking (by default for eight hours). You can end this at the top of the page.
      </p>
      <button type="button" class="danger approves" disabled={busy} onClick={onAlways}>
        Yes, never ask here
      </button>
      {/* The focus is on Back, so that a key pressed right after the last button does not confirm it. */}
      <button type="button" ref={takeFocus} onClick={onBack}>
        Back
      </button>
    </div>
  );
}

interface DenyFormProps {
  isPlan: boolean;
  reason: Signal<string | undefined>;
  /** The person has just chosen to deny. */
  isNew: boolean;
  busy: boolean;
  onBack(): void;
  onDeny(feedback: string): void;
}

function DenyForm({ isPlan, reason, isNew, busy, onBack, onDeny }: DenyFormProps) {
  const hint = isPlan ? 'What should change? (empty rejects it)' : 'What should it do instead? (optional)';
  const field = useRef<HTMLInputElement>(null);
  // A person who chose to deny types the reason next. One who scrolls past may be typing elsewhere.
  useLayoutEffect(() => {
    if (isNew) field.current?.focus();
  }, []);
  return (
    <form
      class="decide deny"
      onSubmit={(event) => {
        event.preventDefault();
        onDeny((reason.peek() ?? '').trim());
      }}
    >
      <input
        ref={field}
        aria-label={hint}
        placeholder={hint}
        maxLength={16_384}
        value={reason.value ?? ''}
        onInput={({ currentTarget }) => {
          reason.value = currentTarget.value;
        }}
      />
      <button type="submit" class="danger" disabled={busy}>
        {isPlan ? 'Send' : 'Deny'}
      </button>
      <button type="button" onClick={onBack}>
        Back
      </button>
    </form>
  );
}
