import { SoundChoice } from '../../state/attention/sound-choice.ts';

/** The choice of this browser. */
export const sound = new SoundChoice(localStorage);
