import { isWide, type Mode } from '../../events/modes.ts';

interface Asked {
  autoApprove?: boolean | undefined;
  mode?: Mode | undefined;
  autoApproveTools?: readonly string[] | undefined;
  readable?: readonly string[] | undefined;
}

const recorded = { action: 'workstream.allow', id: 'wsId', by: 'handler' } as const;

/** Only calls that change what runs without asking are recorded; an approval with `always` has this record, too. */
const recordedWith = (...names: readonly string[]) => ({
  ...recorded,
  when: (params: Readonly<Record<string, unknown>>) => names.some((name) => params[name] !== undefined),
});

/** A new workstream whose calls run without asking is recorded, and needs a fresh proof. */
export const ALLOWING_NEW = {
  audit: recordedWith('autoApprove', 'autoApproveTools', 'mode'),
  stepUp: ({ autoApprove, autoApproveTools = [], mode }: Asked) =>
    autoApprove === true || autoApproveTools.length > 0 || isWide(mode),
};

/** The same for one that is there. Calls that read a folder of `readable` run without asking. */
export const ALLOWING = {
  audit: recordedWith('autoApprove', 'readable', 'confirmWorkdir', 'mode'),
  stepUp: ({ autoApprove, readable = [], mode }: Asked) => autoApprove === true || readable.length > 0 || isWide(mode),
};
