import { GatewayError } from '../../../protocol/errors.ts';
import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { warningOf } from '../../agent/skills/skill-step.ts';
import type { Usable, UsableSkills } from '../skills/agent-skills.ts';
import { type ChosenSkill, storeChosen } from '../skills/chosen-skill.ts';
import type { Store } from '../store/store.ts';
import type { Templates } from '../templates/templates.ts';
import type { Workstream } from '../workstreams/workstream.ts';

interface SkillCommandDeps {
  store: Pick<Store, 'commit'>;
  skills: Pick<UsableSkills, 'look' | 'find' | 'choose'>;
  templates: { prompts: Pick<Templates['prompts'], 'list'> };
}

type Say = (to: Workstream, text: string) => Promise<void>;
/** `/template`: names that are no skills may be templates. */
type TemplateCommand = (argument: string, workstream: Workstream) => Promise<void>;

/** `/skill`: shows the skills, or chooses the one that holds in this conversation. The answer goes to `say`. */
export function createSkillCommand(deps: SkillCommandDeps, say: Say, template: TemplateCommand): TemplateCommand {
  const { store, skills, templates } = deps;
  const list = async (workstream: Workstream) => {
    const text = listOf(await skills.look(placeOf(workstream)));
    if (text === '') return template('', workstream);
    await say(workstream, text);
    if ((await templates.prompts.list()).length > 0) await template('', workstream);
  };
  const clear = async (workstream: Workstream) => {
    const place = placeOf(workstream);
    const { chosen } = await skills.look(place);
    await store.commit({ statements: storeChosen(place.wsId, undefined) });
    if (chosen) await say(workstream, `The skill ${chosen.skill.name} no longer holds here.`);
    await template('clear', workstream);
  };
  return async (argument, workstream) => {
    if (argument === '') return list(workstream);
    if (argument === 'clear') return clear(workstream);
    const place = placeOf(workstream);
    const chosen = await skills.choose(await skills.find(argument, place));
    if (!chosen) {
      const prompts = await templates.prompts.list();
      if (prompts.some(({ name }) => name === argument)) return template(argument, workstream);
      throw notFound(argument, await skills.look(place));
    }
    await store.commit({ statements: storeChosen(place.wsId, chosen) });
    await say(workstream, chosenText(chosen));
  };
}

const placeOf = ({ data: { wsId, workdir } }: Workstream) => ({ wsId, workdir });

function chosenText({ skill }: ChosenSkill): string {
  const warning = warningOf(skill);
  return [
    `From the next message on, this conversation follows the skill ${skill.name}.`,
    ...(skill.isUntrusted ? ['Strangers wrote it: calls that reach further ask, as after a page of the web.'] : []),
    ...(warning === undefined ? [] : [warning]),
  ].join('\n');
}

function notFound(name: string, usable: Usable): GatewayError {
  const waiting = usable.found.waiting.find((skill) => skill.name === name);
  if (!waiting) {
    const names = [...namesOf(usable).keys()].toSorted();
    const there = names.length === 0 ? 'None is listed here.' : `Listed here: ${names.join(', ')}.`;
    return new GatewayError('NOT_FOUND', `There is no skill ${toVisibleLine(name.slice(0, 100))}. ${there}`);
  }
  const folder = toVisibleLine(waiting.folder);
  return new GatewayError(
    'FORBIDDEN',
    `The skill ${name} waits for trust: it comes from ${folder}, which is not trusted. The first message of a conversation asks about it; otherwise add the folder to agents.trusted in config.json.`,
  );
}

/** The skills that can be chosen, with their descriptions. */
function namesOf({ offered, defaults, chosen, found }: Usable): Map<string, string> {
  const names = new Map<string, string>();
  for (const { name, description } of [...defaults, ...found.skills, ...offered]) names.set(name, description);
  if (chosen) names.set(chosen.skill.name, chosen.skill.description);
  return names;
}

/** Marks what holds. Empty: there is nothing to list. */
function listOf(usable: Usable): string {
  const { defaults, chosen, found } = usable;
  const holds = (name: string) => (chosen ? chosen.skill.name === name : defaults.some((skill) => skill.name === name));
  const lines = [...namesOf(usable)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, description]) => `${holds(name) ? '*' : ' '} ${name}  ${shortOf(description)}`);
  const waiting = found.waiting.map(({ name, folder }) => `  ${name}  (waits for trust in ${toVisibleLine(folder)})`);
  const odd = found.odd.map(({ file, why }) => `${toVisibleLine(file)} is no skill: ${why}`);
  const all = [...lines, ...waiting, ...odd];
  return all.length === 0 ? '' : ['Skills:', ...all, HINT].join('\n');
}

const HINT =
  '* marks what holds here. /skill NAME chooses one, also one that only administrators list; /skill clear ends it.';

const shortOf = (description: string): string =>
  description.length <= MOST_SHOWN ? description : `${description.slice(0, MOST_SHOWN)}…`;

const MOST_SHOWN = 100;
