import type { ScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { type AgentTalk, sendDeciding } from './agent-scenario.ts';
import { readChildren } from './read-disk.ts';

/** A coordinator has two children made, writes to one of them, and waits for both. */
export async function leadWork(talk: AgentTalk, model: ScriptedModel, home: string): Promise<void> {
  const workstreams = ['first', 'second'].map((part) => ({ name: `${part}-child`, message: `take the ${part} part` }));
  const spawn = { name: 'spawn_batch', id: 'call-spawn', arguments: { workstreams } };
  model.when('take the first part', say('The first part is done.'));
  model.when('take the second part', say('The second part is done.'));
  model.when('and a little more', say('More is done.'));
  model.when('lead the work', callTools(spawn), say('They work.'));
  await sendDeciding(talk, 'lead the work');
  const ids = readChildren(home, [talk.wsId]);
  const [first] = ids;
  const sending = {
    name: 'send_to_workstream',
    id: 'call-send',
    arguments: { ws_id: first, message: 'and a little more' },
  };
  const waiting = { name: 'wait_for_workstream', id: 'call-wait', arguments: { ws_ids: ids, timeout_secs: 600 } };
  model.when('write to one', callTools(sending), callTools(waiting), say('All is done.'));
  await sendDeciding(talk, 'write to one');
}
