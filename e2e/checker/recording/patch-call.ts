import type { ScriptedCall } from '../../support/model/scripted-steps.ts';

/** A patch that makes two files, whose names tell which call it was. */
export const patchCall = (tag: string): ScriptedCall => ({
  name: 'apply_patch',
  arguments: {
    patch: [
      '*** Begin Patch',
      ...['a', 'b'].flatMap((part) => [`*** Add File: ${tag}-${part}.patched`, `+${tag}`]),
      '*** End Patch',
    ].join('\n'),
  },
});
