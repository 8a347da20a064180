import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { explainBudget } from '../../../../protocol/text/budget-words.ts';
import { UNTRUSTED_INSTRUCTIONS } from '../../../../protocol/text/untrusted-instructions.ts';
import type { Desk } from '../../state/app.ts';
import { begunAnswerOf } from '../../state/approvals/begun-answer.ts';
import { type AskedQuestion, type Decided, judgeWords } from '../../state/approvals/rule-choices.ts';
import { AnswerFields } from './answer-fields.tsx';
import { ApprovalButtons } from './approval-buttons.tsx';
import { AskedCalls } from './asked-calls.tsx';

interface QuestionBodyProps {
  desk: Desk;
  approval: AskedQuestion;
  mayDecide: boolean;
  /** The heading above the calls. */
  title: ComponentChildren;
  decide(decided: Decided): Promise<unknown>;
  /** Other buttons take the place of those before. */
  onStep?: () => void;
}

/** Everything that would run, and the buttons that decide. */
export function QuestionBody({ desk, approval, mayDecide, title, decide, onStep }: QuestionBodyProps) {
  const [isOpen, setIsOpen] = useState(false);
  const judging = judgeWords(approval);
  const { approvalId } = approval;
  const { denied, answers, reason } = useMemo(() => begunAnswerOf(desk, approvalId), [desk, approvalId]);
  return (
    <>
      <AskedCalls
        approval={approval}
        denied={mayDecide ? denied : undefined}
        isOpen={isOpen}
        onOpen={setIsOpen}
        title={title}
      />
      {judging !== undefined && (
        <p class="explain" role="status">
          {judging}
        </p>
      )}
      {approval.question === 'outcome' && (
        <p class="explain">
          This was running when Headgate stopped. Its outcome is unknown. Check before you run it again.
        </p>
      )}
      {approval.question === 'instructions' && <p class="explain">{UNTRUSTED_INSTRUCTIONS}</p>}
      {approval.budget && <p class="explain">{explainBudget(approval.budget)}</p>}
      {mayDecide ? (
        <>
          <AnswerFields approval={approval} answers={answers} denied={denied} />
          <ApprovalButtons
            approval={approval}
            denied={denied}
            answers={answers}
            reason={reason}
            decide={decide}
            onStep={onStep}
          />
        </>
      ) : (
        <p class="explain">Read-only access: deciding requires the approve scope.</p>
      )}
    </>
  );
}
