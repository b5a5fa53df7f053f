"""What one volunteer's computer does besides its node: settings, membership, records, control. Knows no Qt."""
