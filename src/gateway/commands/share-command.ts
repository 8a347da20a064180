import { usageOf } from '../../../protocol/commands.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { mayPerceive, mayShare, type Owned } from '../sharing/perception.ts';
import type { Workstream } from '../workstreams/workstream.ts';
import { type CommandCaller, isNameInUse, toldToCaller } from './command.ts';

/** `/share`: says who sees the workstream, or changes it. The answer goes to `say`. */
export const createShareCommand =
  (say: (to: Workstream, text: string) => Promise<void>) =>
  async (argument: string, workstream: Workstream, { viewer, call }: CommandCaller): Promise<void> => {
    const { data } = workstream;
    const visibility = toVisibility(argument);
    if (visibility !== undefined)
      await call.perform('workstream.share', { wsId: data.wsId, visibility }).catch((error: unknown) => {
        throw visibility === 'private' && isNameInUse(error) ? toldToCaller(error) : error;
      });
    // Someone who may share it always perceives it afterwards, because its owner stays.
    if (mayPerceive(viewer, data)) await say(workstream, toSentence(data, mayShare(viewer, data)));
  };

function toVisibility(argument: string): Owned['visibility'] | undefined {
  if (argument === '') return undefined;
  const meant = WORDS[argument.toLowerCase()];
  if (meant === undefined) throw new GatewayError('INVALID_REQUEST', `Usage: ${usageOf('share')}`);
  return meant;
}

const WORDS: Readonly<Record<string, Owned['visibility']>> = {
  private: 'private',
  me: 'private',
  everyone: 'shared',
  shared: 'shared',
};

function toSentence({ visibility }: Owned, mayChange: boolean): string {
  const how = mayChange ? ` ${HOW[visibility]}` : '';
  return visibility === 'shared'
    ? `Everyone here sees this workstream.${how}`
    : `Only its owner and administrators see this workstream.${how}`;
}

const HOW: Record<Owned['visibility'], string> = {
  shared: '/share private hides it from others.',
  private: '/share everyone shows it to everyone here.',
};
