import { useSignal } from '@preact/signals';
import type { Skill, SkillScan } from '../../../../protocol/methods/skills/skill.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';

/** What the kinds of findings are called. */
const AXES: readonly (readonly [keyof SkillScan['details'], string])[] = [
  ['content', 'Text'],
  ['supplyChain', 'What it fetches'],
  ['vulnerability', 'Weak spots'],
  ['capability', 'Tools that it wants'],
];

/** How risky the scan finds a skill, and why. */
export function ScanReport({ desk, skill }: { desk: Desk; skill: Skill }) {
  const { skills: board } = agentPanelOf(desk);
  const isBusy = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const { scan } = skill;
  const found = AXES.flatMap(([axis, words]) => {
    const details = scan.details[axis];
    return details.length > 0 ? [{ words, details }] : [];
  });
  const rescan = async () => {
    if (isBusy.peek()) return;
    isBusy.value = true;
    problem.value = undefined;
    problem.value = await board.rescan(skill);
    isBusy.value = false;
  };
  return (
    <div class="scan">
      <details>
        <summary>
          {'Scan: '}
          <span class={`tier tier-${scan.tier}`}>{scan.tier}</span>
        </summary>
        {found.length === 0 && <p class="account-facts">None of the known tricks was found.</p>}
        {found.length > 0 && (
          <dl class="scan-findings">
            {found.map(({ words, details }) => (
              <div key={words}>
                <dt>{words}</dt>
                {details.map((detail) => (
                  <dd key={detail}>{toVisibleLine(detail)}</dd>
                ))}
              </div>
            ))}
          </dl>
        )}
        <p class="account-facts">
          A scan knows known tricks only, and no instructions in plain words. It changes nothing about what a skill may
          do.
        </p>
      </details>
      <button
        type="button"
        class="quiet link"
        aria-label={`Scan ${toVisibleLine(skill.name)} again`}
        aria-disabled={isBusy.value}
        onClick={() => void rescan()}
      >
        {isBusy.value ? 'Scanning…' : 'Scan again'}
      </button>
      <p class="problem" role="alert">
        {problem.value}
      </p>
    </div>
  );
}
