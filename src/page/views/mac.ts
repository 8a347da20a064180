/** Whose keyboard this is; it decides which key stands for Control and what the keys are called. */
export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);
