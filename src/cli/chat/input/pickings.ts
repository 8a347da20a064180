import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { toPriceWords } from '../../../../protocol/text/spending/spending-words.ts';
import type { Choice } from './picker.ts';

/** What a person chooses from a list. */
export interface Picking {
  title: string;
  choices: readonly Choice[];
  /** What becomes of the chosen value: a line that is sent, a draft in the prompt, or a workstream that is opened. */
  becomes: 'send' | 'draft' | 'open';
}

type Client = Pick<GatewayClient, 'call'>;

const LISTED = 500;

/** Stands for a workstream that does not exist yet. */
export const NEW_WORKSTREAM = 'new';

const PICKINGS: Readonly<Record<string, (client: Client) => Promise<Picking>>> = {
  '/model': async (client) => {
    const { models } = await client.call('models.list', {});
    const choices = models.map(({ id, name, provider, price, isDefault }) => ({
      value: `/model ${id}`,
      label: id,
      detail: [
        name === '' ? provider : `${provider}/${name}`,
        price === undefined ? '' : `${toPriceWords(price)} per million tokens`,
        isDefault ? 'default' : '',
      ]
        .filter(Boolean)
        .join(', '),
    }));
    return { title: 'Model of this workstream', choices, becomes: 'send' };
  },
  '/skill': async (client) => {
    const { skills } = await client.call('skill.list', {});
    const choices = skills.map(({ name, description }) => ({
      value: `/skill ${name}`,
      label: name,
      detail: description,
    }));
    return { title: 'Skill that this conversation follows', choices, becomes: 'send' };
  },
  '/resume': toStored,
  '/open': toStored,
};

/** The list that a command without an argument opens; undefined for every other line. */
export const findPicking = (line: string): ((client: Client) => Promise<Picking>) | undefined =>
  Object.hasOwn(PICKINGS, line) ? PICKINGS[line] : undefined;

async function toStored(client: Client): Promise<Picking> {
  const { workstreams } = await client.call('workstream.saved', { limit: LISTED });
  const choices = workstreams.map(({ wsId, name, title, workdir, messageCount }) => ({
    value: wsId,
    label: title === null || title === name ? name : `${name}: ${title}`,
    detail: [`${messageCount} messages`, workdir ?? '', wsId.slice(0, 8)].filter(Boolean).join(' · '),
  }));
  const fresh = { value: NEW_WORKSTREAM, label: '(a new workstream)', detail: 'in the folder of this one' };
  return { title: 'Open a conversation in a tab', choices: [...choices, fresh], becomes: 'open' };
}

/** Earlier input, newest first. */
export const toHistoryPicking = (history: readonly string[]): Picking => ({
  title: 'Earlier input',
  choices: history.map((line) => ({ value: line, label: line, detail: '' })),
  becomes: 'draft',
});
