"""The webhook endpoint: a delivery is checked, stored, acknowledged; what it means is found out later (issue 6)."""
