import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, type Step, say } from '../support/model/scripted-steps.ts';
import { COMMIT, GOAL, PATCH, PLAN, STEPS, WISH } from './shop.ts';

/** Lets the model do what an agent would do who repairs the shop. */
export function scriptRepair(model: Pick<ScriptedModel, 'when' | 'requests'>): void {
  const read = (...files: string[]) => callTools(...files.map((path) => ({ name: 'read_file', arguments: { path } })));
  const bash = (command: string, more: object = {}) => callTools({ name: 'bash', arguments: { command, ...more } });
  model.when(
    WISH,
    callTools({ name: 'plan_agent', arguments: { goal: GOAL } }),
    read('src/cart.js', 'src/discount.js'),
    callTools({ name: 'apply_patch', arguments: { patch: PATCH } }),
    bash('node --test --test-reporter=spec', { run_in_background: true }),
    waitForTests(model),
    callTools({ name: 'todo', arguments: { items: STEPS.map((text) => ({ text, status: 'done' })) } }),
    say('Repaired: the tests pass.'),
  );
  model.when(GOAL, read('src/cart.js', 'src/discount.js', 'test/cart.test.js'), say(PLAN));
  model.when(COMMIT, bash('git commit --quiet --all --message "Count and discount carts"'), say('Committed.'));
}

/** Only the daemon knows the id of the command that it started. */
const waitForTests = ({ requests }: Pick<ScriptedModel, 'requests'>): Step => ({
  run(answer) {
    const told = JSON.stringify(requests.at(-1)?.body.messages.at(-1)?.content ?? '');
    const id = /in the background as ([\w-]+)/.exec(told)?.[1] ?? `none in ${told}`;
    return callTools({ name: 'bash_output', arguments: { bash_id: id, wait_secs: 60 } }).run(answer);
  },
});
