import type { FeatureCommand } from '#entrypoints/cli/command.js';
import { COMPANY_FILE_COMMANDS } from '#features/company-file/company-file.commands.js';

/** The commands of features. They stand apart from the modules, which a usage text does not wait for. */
export const FEATURE_COMMANDS: Record<string, FeatureCommand> = {
  ...COMPANY_FILE_COMMANDS,
};
