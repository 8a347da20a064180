import { useEffect, useRef } from 'preact/hooks';
import { askedMore } from '../../../../protocol/text/budget-words.ts';
import { decisionWord } from '../../../../protocol/text/decision-word.ts';
import { ASK_INSTRUCTIONS } from '../../../../protocol/text/untrusted-instructions.ts';
import type { App, Desk } from '../../state/app.ts';
import { isOnlyQuestions } from '../../state/approvals/given-answers.ts';
import type { AskedQuestion } from '../../state/approvals/rule-choices.ts';
import type { ApprovalBlock, Decision } from '../../state/conversation/blocks.ts';
import { resultOf } from '../../state/conversation/tool-blocks.ts';
import type { Tab } from '../../state/tab.ts';
import { showHidden } from '../../state/text/hidden-characters.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { OpenAside } from '../conversation/open-aside.tsx';
import { Icon } from '../icons.tsx';
import { Decider } from './decider.tsx';
import { QuestionBody } from './question-body.tsx';

interface ApprovalCardProps {
  approval: ApprovalBlock;
  /** Whether this is the question to answer now. */
  isPending: boolean;
  app: App;
  desk: Desk;
  tab: Tab;
}

/** A question that waits for a decision. It shows the beginning and the end of everything that would run. */
export function ApprovalCard({ approval, isPending, app, desk, tab }: ApprovalCardProps) {
  const element = useRef<HTMLElement>(null);
  const { goToEnd, openAside } = useConversation();
  const [plan] = approval.question === 'plan' ? approval.items : [];
  useEffect(() => {
    // Focuses the card and not a button, so that a key pressed at this moment cannot approve.
    if (isPending && !isTyping()) element.current?.focus({ preventScroll: true });
  }, [isPending]);
  return (
    <section
      ref={element}
      class={`block approval ${isPending ? 'pending' : ''}`}
      role="alertdialog"
      aria-labelledby={`ask-${approval.approvalId}`}
      tabIndex={-1}
    >
      <QuestionBody
        desk={desk}
        approval={approval}
        mayDecide={app.rights.decide.value}
        title={
          <>
            <h2 id={`ask-${approval.approvalId}`}>
              <Icon name="shield" />
              {toTitle(approval)}
            </h2>
            {plan && openAside && (
              <OpenAside label="Open the plan" onOpen={() => openAside({ view: 'plan', callId: plan.call_id })} />
            )}
          </>
        }
        decide={(decided) => desk.actions.decide(tab, { approvalId: approval.approvalId, ...decided })}
        onStep={goToEnd} // the next buttons may need more room, and a person who had scrolled up a little would not see them
      />
    </section>
  );
}

/** The question in one line. */
export function toTitle(approval: AskedQuestion): string {
  const { question, agent, items, budget } = approval;
  if (budget) return askedMore(budget);
  const title = isOnlyQuestions(approval) ? 'The agent asks' : TITLES[question](items.length);
  return agent === undefined ? title : `${title} (sub-agent: ${agent})`;
}

const TITLES: Record<ApprovalBlock['question'], (count: number) => string> = {
  tools: (count) => (count === 1 ? 'May the agent do this?' : `May the agent do these ${count} things?`),
  outcome: (count) => (count === 1 ? 'Run this again?' : `Run these ${count} again?`),
  instructions: () => ASK_INSTRUCTIONS,
  budget: () => 'Spend more?',
  plan: () => 'Is this plan good?',
};

interface OutcomeProps {
  app: App;
  desk: Desk;
  question: ApprovalBlock['question'];
  /** What was asked about. */
  names: readonly string[];
  decision: Decision;
}

/** A decided question, as one line. */
export function ApprovalOutcome({ app, desk, question, names, decision }: OutcomeProps) {
  const result = resultOf(decision);
  const feedback = result === 'withdrawn' ? '' : decision.feedback;
  return (
    <p class={`block outcome ${result}`}>
      <Icon name={decision.approved ? 'check' : 'cross'} />
      <span>
        {[decisionWord(question, decision), ...(names.length > 0 ? [names.join(', ')] : [])].join(': ')}
        <Decider app={app} desk={desk} by={decision.by} />
        {feedback !== '' && <q>{showHidden(feedback)}</q>}
      </span>
    </p>
  );
}

function isTyping(): boolean {
  const focused = document.activeElement;
  if (focused instanceof HTMLTextAreaElement || focused instanceof HTMLInputElement) return focused.value !== '';
  return document.querySelector('dialog[open]') !== null;
}
