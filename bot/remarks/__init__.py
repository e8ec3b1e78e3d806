"""Commands that people give in comments (issue 6): what they mean, who may give them, what the bot answers."""
