"""A folder for PYTHONPATH: its ``sitecustomize`` lets the recorder into the Python processes of a user's command."""
