import type { Templates } from '../templates/templates.ts';
import type { Workstream } from '../workstreams/workstream.ts';

/** `/template`: shows the templates, or chooses the one of the next conversation. The answer goes to `say`. */
export const createTemplateCommand =
  (templates: Pick<Templates, 'choose' | 'load' | 'prompts'>, say: (to: Workstream, text: string) => Promise<void>) =>
  async (argument: string, workstream: Workstream): Promise<void> => {
    const { data } = workstream;
    if (argument === '') {
      await templates.load(data);
      return say(workstream, await listOf(data, templates.prompts));
    }
    await templates.choose(data, argument === 'clear' ? null : argument);
    const what = argument === 'clear' ? 'the default templates' : `the template ${argument}`;
    const hasBegun = data.opening?.afterSeq === data.contextAfterSeq;
    await say(workstream, hasBegun ? nextWith(what) : `This conversation begins with ${what}.`);
  };

const nextWith = (what: string): string =>
  `The next conversation begins with ${what}: type /new or /clear. This one keeps its system prompt.`;

/** Marks what the next conversation begins with. */
async function listOf({ templates }: Workstream['data'], prompts: Templates['prompts']): Promise<string> {
  const all = await prompts.list();
  const chosen = templates?.prompt;
  const isUsed = ({ name, isDefault }: { name: string; isDefault: boolean }) =>
    chosen ? chosen.name === name : isDefault;
  const lines = all.map((template) => {
    const { name, category, isDefault } = template;
    return `${isUsed(template) ? '*' : ' '} ${name}  (${category}${isDefault ? ', default' : ''})`;
  });
  if (chosen?.name === null) lines.unshift(`* the prompt of the workstream template ${templates?.wsTemplate ?? ''}`);
  else if (chosen && !all.some(({ name }) => name === chosen.name)) lines.unshift(`* ${chosen.name}  (deleted since)`);
  return lines.length === 0 ? 'There are no templates.' : [...lines, HINT].join('\n');
}

const HINT =
  '* marks what the next conversation here begins with. /template NAME chooses one, /template clear the default ones.';
